"""Logs of simulators: what they say about who sent what, and files that are broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes.formats.simulators import RECEIVED, SENT, read_mixim, read_nym

HEAD = "MessageID,MessageType,MessageTimeLeft"
NYM = "Type;ClientID;PacketID;PacketType;PacketTimeSent;PacketTimeDelivered;RealSenderLabel"


def route(sender: str, receiver: str) -> str:
    return f'"[{sender}, ( id: 4, corrupt: False ), Client id: {receiver}]"'


def mixim(folder: Path, sent: list[str], received: list[str], head: str = HEAD) -> Path:
    (folder / SENT).write_text("\n".join([f"{head},MessageRoute", *sent]) + "\n")
    (folder / RECEIVED).write_text(
        "\n".join([f"{head},MessageTimeReceived,MessageRoute", *received]) + "\n"
    )
    return folder


def nym(folder: Path, *rows: str, head: str = NYM) -> Path:
    path = folder / "packet_log.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_mixim_messages_find_their_way_by_identifier(tmp_path: Path) -> None:
    """Message 1_2 overtakes 0_1, 0_3 stays inside, a client and a mix each send a dummy."""
    one, two = route("Client id: 0", "5"), route("Client id: 1", "6")
    messages = read_mixim(
        mixim(
            tmp_path,
            [
                f"0_1,Real,1.0,{one}",
                f"1_2,Real,2.0,{two}",
                f"0_3,Real,3.0,{one}",
                f"1_4,ClientDummy,3.5,{two}",
            ],
            [
                f"1_2,Real,2.0,4.0,{two}",
                f"0_1,Real,1.0,5.0,{one}",
                f"1_4,ClientDummy,3.5,6.0,{two}",
                f"d_3_1,Dummy,0,4.5,{route('None', '7')}",
            ],
        )
    )

    assert messages.senders == ("client 0", "client 1", "client 0", "client 1")
    assert messages.receivers == ("client 6", "client 7", "client 5", "client 6")
    assert messages.departures.tolist() == [4.0, 4.5, 5.0, 6.0]
    assert messages.truth is not None
    assert messages.truth.tolist() == [2, 0, -1, 3]
    assert messages.cover is not None
    assert messages.cover.tolist() == [False, True, False, True]
    assert messages.lost is not None
    assert messages.lost.tolist() == [False, False, False, True]
    assert messages.notes == ()


def test_mixim_without_routes_knows_senders_by_identifier(tmp_path: Path) -> None:
    (tmp_path / SENT).write_text("messageid,MESSAGETYPE,MessageTimeLeft\n3_1,real,1\n")
    (tmp_path / RECEIVED).write_text("messageid,messagetype,MessageTimeReceived\n3_1,real,2\n")
    messages = read_mixim(tmp_path)

    assert messages.senders == ("client 3",)
    assert messages.receivers == ("end of 3_1",)
    assert messages.cover is None
    assert messages.lost is None


def test_a_message_from_before_the_log_is_cover(tmp_path: Path) -> None:
    one = route("Client id: 0", "5")
    messages = read_mixim(
        mixim(tmp_path, [f"0_1,Real,1,{one}"], [f"0_1,Real,1,2,{one}", f"0_0,Real,0,1.5,{one}"])
    )

    assert messages.cover is not None
    assert messages.cover.tolist() == [True, False]
    assert messages.notes == (
        "1 message came out that nobody sent within the log, counted as cover.",
    )


def test_nym_packets_have_their_two_times_in_one_row(tmp_path: Path) -> None:
    messages = read_nym(
        nym(
            tmp_path,
            "RCV_PKT_REAL;c;p1;REAL;1;9;1",
            "RCV_PKT_REAL;d;p2;REAL;2;5;2",
            "RCV_PKT_DUMMY;d;p2;REAL;2;5;2",
            "RCV_PKT_DUMMY;c;p3;DUMMY;0;4;0",
            "SND_PKT;c;p4;REAL;0;1;1",
        )
    )

    assert messages.senders == ("sender of p3", "A", "B")
    assert messages.receivers == ("c", "d", "c")
    assert messages.truth is not None
    assert messages.truth.tolist() == [0, 2, 1]
    assert messages.cover is not None
    assert messages.cover.tolist() == [True, False, False]
    assert messages.lost is not None
    assert messages.lost.tolist() == [True, False, False]
    assert len(messages.notes) == 3


def test_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    rows = [f"RCV_PKT_REAL;c{k};p{k};REAL;{k};{k + 3 + k % 5};1" for k in range(20)]
    one = read_nym(nym(tmp_path, *rows))
    two = read_nym(nym(tmp_path, *(rows[k] for k in rng.permutation(20))))

    assert np.array_equal(one.true_delays(), two.true_delays())
    assert one.arrivals.tolist() == two.arrivals.tolist()


@pytest.mark.parametrize(
    ("sent", "received", "says"),
    [
        (
            ["1_1,Real,x,"],
            ["1_1,Real,1,2,"],
            "line 2: MessageTimeLeft is 'x'; give a finite number",
        ),
        (["1_1,Real,nan,"], ["1_1,Real,1,2,"], "MessageTimeLeft is 'nan'"),
        (["1_1,Real,1,"], ["1_1,Real,1,inf,"], "MessageTimeReceived is 'inf'"),
        (["1_1,Real,1,"], ["1_1,Real,1,,"], "MessageTimeReceived is empty"),
        (["1_1,Real,5,"], ["1_1,Real,5,2,"], "left before"),
        (["1_1,Real,1,"] * 2, ["1_1,Real,1,2,"], "line 3: MessageID '1_1' is there twice"),
        ([",Real,1,"], ["1_1,Real,1,2,"], "line 2: MessageID is empty"),
        (["1_1,Dummy,1,"], ["1_1,Dummy,1,2,"], "no real message went through"),
        ([], ["1_1,Real,1,2,"], "it has columns and no rows"),
        (["1_1,Real"], ["1_1,Real,1,2,"], "line 2: 2 fields, but the header has 4"),
    ],
)
def test_broken_mixim_logs_are_named(
    tmp_path: Path, sent: list[str], received: list[str], says: str
) -> None:
    with pytest.raises(am.InputError, match=says) as caught:
        read_mixim(mixim(tmp_path, sent, received))

    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_missing_files_and_columns_are_named(tmp_path: Path) -> None:
    with pytest.raises(am.InputError, match=r"SentMessages\.csv: there is no such file"):
        read_mixim(tmp_path)
    mixim(tmp_path, ["1,Real,1,"], ["1,Real,1,2,"], head="ID,MessageType,MessageTimeLeft")
    with pytest.raises(am.InputError, match="there is no column 'MessageID'; the columns are 'ID'"):
        read_mixim(tmp_path)


@pytest.mark.parametrize(
    ("rows", "head", "says"),
    [
        (["SND;c;p;REAL;1;2;1"], NYM, "no row says that a packet was received"),
        (["RCV_X;c;;REAL;1;2;1"], NYM, "PacketID is empty"),
        (["RCV_X;c;p;REAL;None;2;1"], NYM, "PacketTimeSent is 'None'"),
        (["RCV_X;c;p;REAL;3;2;1"], NYM, "left before"),
        (["RCV_X;c;p"], "Type;ClientID;PacketID", "there is no column 'RealSenderLabel'"),
        ([], NYM, "it has columns and no rows"),
    ],
)
def test_broken_nym_logs_are_named(tmp_path: Path, rows: list[str], head: str, says: str) -> None:
    with pytest.raises(am.InputError, match=says) as caught:
        read_nym(nym(tmp_path, *rows, head=head))

    assert "\n" not in str(caught.value)


def test_what_is_no_text_is_named(tmp_path: Path) -> None:
    path = nym(tmp_path, "RCV_X;c;p;REAL;1;2;1")
    path.write_bytes(path.read_bytes().replace(b"REAL", b"\xff\xfe"))
    with pytest.raises(am.InputError, match="line 2: byte 0xff is not UTF-8"):
        read_nym(path)
